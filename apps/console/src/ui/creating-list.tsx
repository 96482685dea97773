/** A list whose things are made in a dialog. Its button stands beside the heading, and in the empty list. */
import { type ComponentProps, type ReactNode, Suspense, useState } from 'react';
import { useMay } from '../api/api-context';
import { CreateButton } from './create-button';
import { ListScreen } from './list-screen';
import { Empty } from './states';

interface CreatingListProps<Row> extends Omit<ComponentProps<typeof ListScreen<Row>>, 'empty'> {
  /** Users without it see no button. */
  permission: string;
  /** Text of the button. */
  create: string;
  empty: { title: string; hint: string };
  /** Renders the dialog with its close function. The dialog's code may be loaded on first use. */
  form: (close: () => void) => ReactNode;
}

export function CreatingList<Row>(props: CreatingListProps<Row>) {
  const { permission, create, empty, form, side, ...list } = props;
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const button = may(permission) && <CreateButton text={create} onClick={() => setOpen(true)} />;
  return (
    <>
      <ListScreen
        {...list}
        side={
          (side || button) && (
            <>
              {side}
              {button}
            </>
          )
        }
        empty={<Empty {...empty} action={button} />}
      />
      <Suspense fallback={null}>{isOpen && form(() => setOpen(false))}</Suspense>
    </>
  );
}
