/** State of a form for inputs or parameters. */
import { useState } from 'react';
import { t } from '../text/text';
import { type Draft, type Drafts, draftsOf, type Errors, readDrafts, type Values } from './drafts';
import { type DataTypes, type FieldSpec, fieldsOf, type Schemas } from './field-spec';

export type Look = 'fields' | 'text';

export interface InputsForm {
  fields: readonly FieldSpec[];
  drafts: Drafts;
  look: Look;
  /** All values as YAML or JSON, while `look` is `text`. */
  text: string;
  /** Errors by path, found by this page or by the DSL. */
  errors: Errors;
  /** Result of the file import. */
  notice: string | null;
  /** Increases with each `read` that finds errors; the focus then moves to the first error. */
  refusals: number;
  setDraft: (name: string, draft: Draft) => void;
  setText: (text: string) => void;
  setLook: (look: Look) => Promise<void>;
  importFile: (file: File) => Promise<void>;
  /** Returns the values to send, without values equal to their defaults; null: there are errors, shown beside their fields. */
  read: () => Promise<Values | null>;
}

interface State {
  key: string;
  drafts: Drafts;
  look: Look;
  text: string;
  errors: Errors;
  notice: string | null;
  refusals: number;
}

export interface InputsOptions {
  /** A new key resets the form: another blueprint, or another workflow. */
  key: string;
  schemas: Schemas;
  dataTypes?: DataTypes;
  isParameter?: boolean;
  /** Initial values instead of the defaults. */
  given?: Values;
}

const MOST_BYTES = 1024 * 1024;
/** Loaded on first use, so that forms appear without waiting for it. */
const language = () => import('./language');

export function useInputs(o: InputsOptions): InputsForm {
  const { key, schemas, dataTypes = {}, isParameter = false, given } = o;
  const fields = fieldsOf(schemas, { dataTypes, isParameter });
  const [stored, setState] = useState<State>(() => beginning(key, fields, given));
  let state = stored;
  if (state.key !== key) {
    state = beginning(key, fields, given);
    setState(state);
  }
  const change = (part: Partial<State>): void => setState((before) => ({ ...before, ...part }));

  const refuse = (errors: Errors): null => {
    setState((before) => ({ ...before, errors, refusals: before.refusals + 1 }));
    return null;
  };

  return {
    ...state,
    fields,
    setDraft: (name, draft) =>
      setState((before) => ({
        ...before,
        drafts: { ...before.drafts, [name]: draft },
        errors: without(before.errors, name),
      })),
    setText: (text) => change({ text, errors: {} }),
    setLook: async (look) => {
      if (look === state.look) return;
      if (look === 'text') return change({ look, text: textOf(fields, state.drafts), errors: {} });
      const now = await heldBy(state, fields, schemas);
      if ('error' in now) refuse({ '': now.error });
      else if (Object.keys(now.errors).length > 0) refuse(now.errors);
      else change({ look, drafts: now.drafts, errors: {} });
    },
    importFile: async (file) => change(await readFile(file, fields, schemas, state.drafts)),
    read: async () => {
      const now = await heldBy(state, fields, schemas);
      if ('error' in now) return refuse({ '': now.error });
      const { values, errors } = readDrafts(fields, now.drafts);
      // All errors are reported at once.
      const refused = await (await language()).checkValues(schemas, dataTypes, values);
      const found = { ...refused, ...now.errors, ...errors };
      if (Object.keys(found).length > 0) return refuse(found);
      change({ errors: {} });
      return values;
    },
  };
}

type Held = { drafts: Drafts; errors: Record<string, string> } | { error: string };

/** Returns the content of the form, in either look. */
async function heldBy(state: State, fields: readonly FieldSpec[], schemas: Schemas): Promise<Held> {
  if (state.look === 'fields') return { drafts: state.drafts, errors: {} };
  const reading = (await language()).readValues(state.text, schemas);
  if ('error' in reading) return reading;
  return { drafts: draftsOf(fields, reading.values), errors: unknownNames(reading.values, schemas) };
}

/** Merges the values of a file into the form. Reports unknown names. */
async function readFile(
  file: File,
  fields: readonly FieldSpec[],
  schemas: Schemas,
  before: Drafts,
): Promise<Partial<State>> {
  if (file.size > MOST_BYTES) return { errors: { '': t.forms.tooLarge }, notice: null };
  const reading = (await language()).readValues(await file.text(), schemas);
  if ('error' in reading) return { errors: { '': `${file.name}: ${reading.error}` }, notice: null };
  const unknown = Object.keys(unknownNames(reading.values, schemas));
  const known = fields.filter(({ name }) => Object.hasOwn(reading.values, name));
  const notices = [t.forms.imported(file.name, known.length)];
  if (unknown.length > 0) notices.push(t.forms.importedNot(unknown.join(', ')));
  const drafts = { ...before, ...draftsOf(known, reading.values) };
  return { look: 'fields', drafts, errors: {}, notice: notices.join(' ') };
}

const beginning = (key: string, fields: readonly FieldSpec[], given?: Values): State => ({
  key,
  drafts: draftsOf(fields, given),
  look: 'fields',
  text: '',
  errors: {},
  notice: null,
  refusals: 0,
});

/** Returns the valid values as JSON, which is also YAML. Unfinished values are dropped. */
function textOf(fields: readonly FieldSpec[], drafts: Drafts): string {
  const shown = fields.map((field) => ({ ...field, default: undefined }));
  const { values } = readDrafts(shown, drafts);
  return Object.keys(values).length === 0 ? '' : JSON.stringify(values, null, 2);
}

const unknownNames = (values: Values, schemas: Schemas): Record<string, string> =>
  Object.fromEntries(
    Object.keys(values)
      .filter((name) => !Object.hasOwn(schemas, name))
      .map((name) => [name, t.forms.errors.unknown]),
  );

/** Removes the errors of a field and of its parts. */
const without = (errors: Errors, name: string): Errors =>
  Object.fromEntries(
    Object.entries(errors).filter(([path]) => path !== name && !/^[.[]/.test(path.slice(name.length))),
  );
