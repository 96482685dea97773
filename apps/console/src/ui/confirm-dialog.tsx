/** Asks for confirmation of an irreversible action and shows its effects. */
import { type ReactNode, useState } from 'react';
import { t } from '../text/text';
import { Button } from './button';
import { Dialog } from './dialog';
import { controlClass, Field } from './field';
import { InlineProblem } from './states';

interface ConfirmDialogProps {
  title: string;
  text?: ReactNode;
  /** Text of the confirm button: the name of the action. */
  action: string;
  mutation: { mutate: () => void; isPending: boolean; error: unknown };
  onClose: () => void;
  /** The user must type this text first. For actions with large effects. */
  typed?: string;
  typedLabel?: string;
  /** The affected resources, below the text. */
  children?: ReactNode;
  /** The manager would refuse the action, or its effects are not known yet. */
  isBlocked?: boolean;
  /** False for an action that loses nothing. */
  isDanger?: boolean;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    title,
    text,
    action,
    mutation,
    onClose,
    typed,
    children,
    isBlocked = false,
    isDanger = true,
  } = props;
  const [entered, setEntered] = useState('');
  const isReady = !isBlocked && !mutation.isPending && (typed === undefined || entered === typed);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isAlert
      actions={
        <>
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button look={isDanger ? 'danger' : 'main'} disabled={!isReady} onClick={() => mutation.mutate()}>
            {action}
          </Button>
        </>
      }
    >
      {text && <p>{text}</p>}
      {children}
      {typed !== undefined && !isBlocked && (
        <Field label={props.typedLabel ?? t.confirm.type} hint={<code>{typed}</code>}>
          {(ids) => (
            <input
              {...ids}
              className={controlClass}
              autoComplete="off"
              spellCheck={false}
              value={entered}
              onChange={(event) => setEntered(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && isReady) mutation.mutate();
              }}
            />
          )}
        </Field>
      )}
      <InlineProblem error={mutation.error} />
    </Dialog>
  );
}
