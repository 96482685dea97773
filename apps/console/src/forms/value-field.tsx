/** One field of a form: the control for its type, including nested fields. */
import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { controlClass, Field } from '../ui/field';
import { type Draft, draftOf, type Errors } from './drafts';
import { hintOf } from './field-hint';
import type { FieldSpec, ListField, PartsField } from './field-spec';
import styles from './inputs.module.css';
import { PickInput } from './pick-input';
import type { PickPlace } from './picks';

export interface FieldSurroundings {
  errors: Errors;
  place: PickPlace;
  inputValue: (input: string) => unknown;
}

interface ValueFieldProps extends FieldSurroundings {
  field: FieldSpec;
  /** Path of the field in the form: `disk.size`, `hosts[1]`. */
  path: string;
  draft: Draft;
  onChange: (draft: Draft) => void;
}

export function ValueField(props: ValueFieldProps) {
  const { field, draft } = props;
  // A value that does not fit its type is shown as JSON, so that nothing is lost.
  if (field.control === 'list' && typeof draft !== 'string') return <Items {...props} field={field} />;
  if (field.control === 'parts' && typeof draft !== 'string') return <Parts {...props} field={field} />;
  return <Single {...props} />;
}

function Single({ field, path, draft, onChange, errors, place, inputValue }: ValueFieldProps) {
  const text = typeof draft === 'string' ? draft : '';
  return (
    <Field
      label={field.label}
      hint={hintOf(field)}
      error={errors[path] ?? null}
      isRequired={field.isRequired}
    >
      {(ids) => {
        const common = { ...ids, className: controlClass, 'aria-required': field.isRequired || undefined };
        if (field.control === 'choice')
          return (
            <select {...common} value={text} onChange={(event) => onChange(event.currentTarget.value)}>
              {!field.choices.some((choice) => choice.text === text) && (
                <option value={text}>{text === '' ? t.forms.notSet : text}</option>
              )}
              {field.choices.map((choice) => (
                <option key={choice.text} value={choice.text}>
                  {choice.text}
                </option>
              ))}
              {text !== '' && field.default === undefined && !field.isRequired && (
                <option value="">{t.forms.notSet}</option>
              )}
            </select>
          );
        if (field.control === 'pick')
          return (
            <PickInput
              {...common}
              request={{ picked: field.picked, constraints: field.constraints, place, inputValue }}
              text={text}
              onChange={onChange}
            />
          );
        if (field.control === 'text' || field.control === 'number')
          return (
            <input
              {...common}
              inputMode={field.control === 'number' ? 'decimal' : undefined}
              spellCheck={false}
              autoComplete="off"
              value={text}
              onChange={(event) => onChange(event.currentTarget.value)}
            />
          );
        return (
          <textarea
            {...common}
            rows={field.control === 'area' ? field.rows : undefined}
            spellCheck={false}
            value={text}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        );
      }}
    </Field>
  );
}

type Below<Of> = ValueFieldProps & { field: Of };

function Items({ field, path, draft, onChange, ...around }: Below<ListField>) {
  const items = Array.isArray(draft) ? draft : [];
  const { label } = field;
  return (
    <Group field={field} error={around.errors[path]}>
      {items.map((item, i) => (
        // Items have no key other than their index; their texts are kept in the drafts.
        <div key={i} className={styles.row}>
          <ValueField
            {...around}
            field={{ ...field.item, label: t.forms.item(label, i + 1), description: null }}
            path={`${path}[${i}]`}
            draft={item}
            onChange={(next) => onChange(items.map((one, at) => (at === i ? next : one)))}
          />
          <Button
            look="icon"
            className={styles.remove}
            aria-label={t.forms.removeItem(label, i + 1)}
            onClick={() => onChange(items.filter((_, at) => at !== i))}
          >
            <X size={16} aria-hidden="true" />
          </Button>
        </div>
      ))}
      {items.length === 0 && <p className={styles.hint}>{t.forms.noItems}</p>}
      <div>
        <Button onClick={() => onChange([...items, draftOf(field.item, field.item.default)])}>
          <Plus size={15} aria-hidden="true" /> {t.forms.addItem(label)}
        </Button>
      </div>
    </Group>
  );
}

function Parts({ field, path, draft, onChange, ...around }: Below<PartsField>) {
  const parts = typeof draft === 'object' && !Array.isArray(draft) ? draft : {};
  return (
    <Group field={field} error={around.errors[path]}>
      {field.parts.map((part) => (
        <ValueField
          key={part.name}
          {...around}
          field={part}
          path={`${path}.${part.name}`}
          draft={parts[part.name] ?? draftOf(part, part.default)}
          onChange={(next) => onChange({ ...parts, [part.name]: next })}
        />
      ))}
    </Group>
  );
}

function Group({
  field,
  error,
  children,
}: {
  field: FieldSpec;
  error: string | undefined;
  children: ReactNode;
}) {
  const hint = hintOf(field);
  return (
    <fieldset className={styles.group}>
      <legend>
        {field.label}
        {field.isRequired && <span aria-hidden="true"> *</span>}
      </legend>
      {hint && <p className={styles.hint}>{hint}</p>}
      {children}
      {error && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
