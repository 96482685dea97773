/** A dialog with a form. Enter submits it. Errors of the manager are shown beside their fields. */
import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { problemOf } from '../api/problem';
import { t } from '../text/text';
import { Button } from './button';
import { Dialog } from './dialog';
import styles from './form-dialog.module.css';
import { InlineProblem } from './states';

/** Returns the error of a field, by its name in the request body; null when there is none. Must be called during rendering. */
export type ErrorOf = (field: string) => string | null;

interface FormDialogProps {
  title: string;
  /** Text of the submit button. */
  submit: string;
  mutation: { isPending: boolean; error: unknown };
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode | ((errorOf: ErrorOf) => ReactNode);
  /** Errors found by this page, by field. When there are any, `onSubmit` should send nothing. */
  errors?: Readonly<Record<string, string>>;
  /** A required value is missing. */
  isIncomplete?: boolean;
  isDanger?: boolean;
}

export function FormDialog(props: FormDialogProps) {
  const { title, submit, mutation, onSubmit, onClose, children, errors = NO_ERRORS } = props;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>(FIELDS)?.focus(), []);
  // Moves the focus to the first error, for keyboard users.
  useEffect(() => {
    if (mutation.error || Object.keys(errors).length > 0)
      form.current?.querySelector<HTMLElement>(FAULTY)?.focus();
  }, [mutation.error, errors]);
  const refusal = mutation.error ? problemOf(mutation.error) : null;
  const said: Said = { isBeside: false };
  const errorOf: ErrorOf = (field) => {
    if (errors[field]) return errors[field];
    if (!refusal || refusal.details.field !== field) return null;
    said.isBeside = true;
    return refusal.message;
  };
  const fields = typeof children === 'function' ? children(errorOf) : children;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    // Events of a nested form arrive here as well.
    event.stopPropagation();
    if (!mutation.isPending && !props.isIncomplete) onSubmit();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isKept
      actions={
        <>
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button
            look={props.isDanger ? 'danger' : 'main'}
            type="submit"
            form={id}
            disabled={mutation.isPending || props.isIncomplete}
          >
            {submit}
          </Button>
        </>
      }
    >
      <form id={id} ref={form} onSubmit={send} noValidate className={styles.form}>
        {fields}
        <Unsaid error={mutation.error} said={said} />
      </form>
    </Dialog>
  );
}

interface Said {
  /** A field has shown the refusal of the manager. */
  isBeside: boolean;
}

/** The refusal of the manager, unless a field has shown it. React renders it after the fields, so it knows. */
const Unsaid = ({ error, said }: { error: unknown; said: Said }) =>
  said.isBeside ? null : <InlineProblem error={error} />;

const FAULTY = '[aria-invalid=true], [data-fault]';
const FIELDS = 'input:not([type=hidden]), select, textarea';
/** A constant: a new object in each render would run the effect that moves the focus. */
const NO_ERRORS: Readonly<Record<string, string>> = {};
