/** A list whose things are made, changed and deleted in dialogs of the list itself. */
import { type ReactNode, useState } from 'react';
import { useMay } from '../api/api-context';
import { CreateButton } from './create-button';
import { RowActions } from './row-actions';
import type { ListColumn } from './virtual-list';
import { useMayChange } from './visibility';

interface RowDialogs<Row> {
  /** The dialog that is open. */
  open: { kind: 'create' } | { kind: 'edit' | 'delete'; row: Row } | null;
  close: () => void;
  /** The button that makes a new one; false for those who may not. */
  create: ReactNode;
  /** The last column: what the user may do with a row. */
  actions: ListColumn<Row>;
}

/** `thing`: the beginning of the permissions `{thing}_create`, `{thing}_update`, `{thing}_delete`; `text`: of the button. */
export function useRowDialogs<Row extends { name: string; tenant_name: string }>(
  thing: string,
  text: string,
): RowDialogs<Row> {
  const may = useMay();
  const mayChange = useMayChange();
  const [open, setOpen] = useState<RowDialogs<Row>['open']>(null);
  return {
    open,
    close: () => setOpen(null),
    create: may(`${thing}_create`) && (
      <CreateButton text={text} onClick={() => setOpen({ kind: 'create' })} />
    ),
    actions: {
      id: 'actions',
      name: '',
      width: '84px',
      cell: (row) => (
        <RowActions
          name={row.name}
          onEdit={mayChange(`${thing}_update`, row) ? () => setOpen({ kind: 'edit', row }) : null}
          onDelete={mayChange(`${thing}_delete`, row) ? () => setOpen({ kind: 'delete', row }) : null}
        />
      ),
    },
  };
}
