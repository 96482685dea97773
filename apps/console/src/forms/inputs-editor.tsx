/** Editor of inputs: as single fields, or all values as one text. Values can be imported from a file. */
import { FileUp } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { BarSelect, controlClass, Field } from '../ui/field';
import { draftOf, type Errors, readDrafts } from './drafts';
import type { FieldSpec } from './field-spec';
import styles from './inputs.module.css';
import type { PickPlace } from './picks';
import type { InputsForm } from './use-inputs';
import { ValueField } from './value-field';

interface InputsEditorProps {
  form: InputsForm;
  place: PickPlace;
  /** Errors that the manager returned, by path. */
  refused?: Errors;
}

export function InputsEditor({ form, place, refused = {} }: InputsEditorProps) {
  const { fields, look } = form;
  const box = useRef<HTMLDivElement>(null);
  const errors = Object.keys(form.errors).length > 0 ? form.errors : refused;
  const isRefused = Object.keys(refused).length > 0;
  // Moves the focus to the first error, for keyboard users.
  useEffect(() => {
    if (form.refusals > 0 || isRefused)
      box.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [form.refusals, isRefused]);
  if (fields.length === 0) return <p className={styles.hint}>{t.forms.noInputs}</p>;
  return (
    <div ref={box} className={styles.form}>
      <Bar form={form} />
      {form.notice && <p role="status">{form.notice}</p>}
      {look === 'text' ? (
        <Field label={t.forms.text} hint={t.forms.textHint}>
          {(ids) => (
            <textarea
              {...ids}
              aria-invalid={Object.keys(errors).length > 0 || undefined}
              className={`${controlClass} ${styles.text}`}
              spellCheck={false}
              value={form.text}
              onChange={(event) => form.setText(event.currentTarget.value)}
            />
          )}
        </Field>
      ) : (
        <Fields form={form} place={place} errors={errors} />
      )}
      <Wrong errors={errors} isListed={look === 'text'} />
    </div>
  );
}

function Bar({ form }: { form: InputsForm }) {
  const file = useRef<HTMLInputElement>(null);
  return (
    <div className={styles.bar}>
      <BarSelect
        label={t.forms.look}
        value={form.look}
        options={[
          ['fields', t.forms.looks.fields],
          ['text', t.forms.looks.text],
        ]}
        onChange={(look) => void form.setLook(look === 'text' ? 'text' : 'fields')}
      />
      <input
        ref={file}
        type="file"
        hidden
        accept=".yaml,.yml,.json"
        aria-label={t.forms.importHint}
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          // Allows to import the same file again after it was changed.
          event.currentTarget.value = '';
          if (chosen) void form.importFile(chosen);
        }}
      />
      <Button title={t.forms.importHint} onClick={() => file.current?.click()}>
        <FileUp size={15} aria-hidden="true" /> {t.forms.import}
      </Button>
    </div>
  );
}

function Fields({ form, place, errors }: { form: InputsForm; place: PickPlace; errors: Errors }) {
  const shown = form.fields.filter((field) => !field.isHidden);
  const hidden = form.fields.filter((field) => field.isHidden);
  const inputValue = (input: string): unknown => {
    const field = form.fields.find(({ name }) => name === input);
    return field && readDrafts([{ ...field, default: undefined }], form.drafts).values[input];
  };
  const draw = (field: FieldSpec) => (
    <ValueField
      key={field.name}
      field={field}
      path={field.name}
      draft={form.drafts[field.name] ?? draftOf(field, undefined)}
      errors={errors}
      place={place}
      inputValue={inputValue}
      onChange={(draft) => form.setDraft(field.name, draft)}
    />
  );
  return (
    <>
      {shown.map(draw)}
      {hidden.length > 0 && (
        <details>
          <summary>{t.forms.hidden(hidden.length)}</summary>
          <div className={styles.form}>{hidden.map(draw)}</div>
        </details>
      )}
    </>
  );
}

/** Summary of all errors. In the text view it is the only place that shows them. */
function Wrong({ errors, isListed }: { errors: Errors; isListed: boolean }) {
  const { '': whole, ...rest } = errors;
  const entries = Object.entries(rest);
  if (whole === undefined && entries.length === 0) return null;
  return (
    <div className={styles.wrong} role="alert">
      {whole}
      {entries.length > 0 && <p>{t.forms.summary(entries.length)}</p>}
      <ul>
        {entries.map(([path, words]) => (
          <li key={path}>
            <strong>{path}</strong>
            {isListed && `: ${words}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
