/** Shows what the manager tells only once. Only this dialog holds it; closing the dialog discards it. */
import { t } from '../text/text';
import { Button } from './button';
import { Copyable } from './copyable';
import styles from './copyable.module.css';
import { Dialog } from './dialog';

interface OnceDialogProps {
  title: string;
  /** Names with texts; the secret last. */
  texts: readonly (readonly [name: string, text: string])[];
  hint?: string;
  /** What has answered with the texts. */
  mutation: { reset: () => void };
  onClose: () => void;
}

export function OnceDialog({ title, texts, hint, mutation, onClose }: OnceDialogProps) {
  const close = (): void => {
    // Without a reset, the mutation would keep the secret in memory for a while.
    mutation.reset();
    onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={close}
      isAlert
      actions={
        <Button look="main" onClick={close}>
          {t.copy.done}
        </Button>
      }
    >
      <p className={styles.warning}>{t.copy.once}</p>
      {hint && <p>{hint}</p>}
      {texts.map(([name, text]) => (
        <div key={name} className={styles.named}>
          <span className={styles.name}>{name}</span>
          <Copyable text={text} name={name} />
        </div>
      ))}
    </Dialog>
  );
}
