/** The usual commands of a kind of object, from its row of the table: list, get, delete, and commands that are one call. */
import type { AnswerOf, OperationArgs, OperationId } from '@baton/client';
import { newId } from '@baton/kernel';
import type { Command, Option } from 'commander';
import type { Format } from '../output';
import type { LooseClient } from './declared-client';
import { type Args, type Cli, command, type Options, type Run, repeated } from './define';
import { fetchItems } from './fetch-items';
import { contractOf, listOf, listOptions, listQuery } from './list-options';
import { ruleOptions, rulesOf } from './rules';

/** How objects of a kind are shown. */
export interface Shown {
  columns: readonly string[];
  wide?: readonly string[];
  /** Field that names an object, for `-o name`. */
  name?: string;
}

export interface ListSpec extends Shown {
  operation: OperationId;
  about: string;
  /** Operation that takes filter rules in its body; it offers --labels-rule and --attrs-rule. */
  search?: OperationId;
  /** Name of the command; default `list`. */
  command?: string;
  /** Options that stand for one field: `-d, --deployment <id>` -> deployment_id. */
  fields?: readonly { flags: string; about: string; field: string; key: string }[];
  /** Path parameter that the argument of the command fills. */
  param?: string;
  query?: Record<string, unknown>;
  /** Converts an item that is not an object. */
  row?: (item: unknown) => object;
  examples?: readonly string[];
}

/** A row of the table that names a wrong parameter fails when the program is built, and so in every test. */
function requireParam(operation: OperationId, param: string | undefined): void {
  const { path } = contractOf(operation);
  if (param !== undefined && !path.split('/').includes(`:${param}`))
    throw new Error(`${operation} has no parameter ${param} in its path ${path}`);
}

/** Adds `list`: everything that matches, or one page. Programs get all fields, people the columns. */
export function listCommand(cli: Cli, parent: Command, spec: ListSpec): void {
  const { operation, search, fields = [] } = spec;
  requireParam(operation, spec.param);
  command(cli, parent, {
    name: spec.command ?? 'list',
    about: spec.about,
    uses: search === undefined ? [operation] : [operation, search],
    options: [
      ...fields.map(({ flags, about }) => repeated(flags, about)),
      ...listOptions(operation),
      ...(search === undefined ? [] : ruleOptions()),
    ],
    examples: spec.examples,
    isWatched: true,
    run: (run) => list(run, spec),
  });
}

async function list({ args, options, client, out }: Run<OperationId>, spec: ListSpec): Promise<void> {
  const rules = spec.search === undefined ? [] : rulesOf(options);
  const operation = rules.length > 0 ? spec.search! : spec.operation;
  const query: Record<string, unknown> = { ...spec.query, ...listQuery(spec.operation, options) };
  for (const { field, key } of spec.fields ?? [])
    if ((options[key] ?? []).length > 0) query[field] = options[key];
  const include = includedFields(operation, out.format, spec);
  if (include.length > 0) query._include = include.join(',');
  const request = {
    query,
    ...(spec.param === undefined ? {} : { params: { [spec.param]: args[0] } }),
    ...(rules.length > 0 ? { body: { filter_rules: rules } } : {}),
  };
  const items = await fetchItems(client, operation, request, options);
  out.table(spec.row ? items.map(spec.row) : (items as object[]), spec.columns, spec);
}

/** Returns the fields that are asked for; none = all of them, as documents show. */
function includedFields(operation: OperationId, format: Format, spec: ListSpec): string[] {
  const known = listOf(operation).fields;
  const shown = format === 'name' ? [spec.name ?? 'id'] : [...spec.columns, ...(spec.wide ?? [])];
  return format === 'json' || format === 'yaml' ? [] : shown.filter((column) => known.includes(column));
}

export interface GetSpec extends Shown {
  operation: OperationId;
  /** Path parameter that the argument fills. */
  param: string;
  about: string;
  /** Fields that people see besides the columns. */
  more?: readonly string[];
  /** Argument; default `<id>`. */
  argument?: string;
  query?: Record<string, unknown>;
  options?: readonly Option[];
  /** Query parameters that the options give. */
  queryOf?: (options: Options) => Record<string, unknown>;
  examples?: readonly string[];
}

/** Adds `get <id>`. */
export function getCommand(cli: Cli, parent: Command, spec: GetSpec): void {
  requireParam(spec.operation, spec.param);
  command(cli, parent, {
    name: `get ${spec.argument ?? '<id>'}`,
    about: spec.about,
    uses: [spec.operation],
    options: spec.options ?? [],
    examples: spec.examples,
    isWatched: true,
    run: async ({ args, options, client, out }) => {
      const object = await (client as unknown as LooseClient).call(spec.operation, {
        params: { [spec.param]: args[0] },
        query: { ...spec.query, ...spec.queryOf?.(options) },
      });
      out.record(object as object, [...spec.columns, ...(spec.wide ?? []), ...(spec.more ?? [])], spec);
    },
  });
}

export interface DeleteSpec {
  operation: OperationId;
  param: string;
  about: string;
  /** The kind in the sentence at the end: `Site lab deleted.` */
  kind: string;
  argument?: string;
  options?: readonly Option[];
  queryOf?: (options: Options) => Record<string, unknown>;
}

/** Adds `delete <id>`. */
export function deleteCommand(cli: Cli, parent: Command, spec: DeleteSpec): void {
  requireParam(spec.operation, spec.param);
  command(cli, parent, {
    name: `delete ${spec.argument ?? '<id>'}`,
    about: spec.about,
    uses: [spec.operation],
    options: spec.options ?? [],
    run: async ({ args: [id], options, client, out }) => {
      await (client as unknown as LooseClient).call(spec.operation, {
        params: { [spec.param]: id },
        query: spec.queryOf?.(options),
      });
      out.done(`${spec.kind} ${id} deleted.`, { id });
    },
  });
}

export interface CallSpec<Id extends OperationId> {
  name: string;
  about: string;
  operation: Id;
  options?: readonly Option[];
  examples?: readonly string[];
  /** The request that arguments and options say. */
  request?: (args: Args, options: Options) => Omit<OperationArgs<Id>, 'idempotencyKey'>;
  /** The write is repeated with the same key when the connection breaks. */
  isRepeatable?: boolean;
  /** The sentence at the end; absent: the answer is shown. */
  done?: (args: Args, answer: AnswerOf<Id>) => string;
  /** Fields of the answer that people see. */
  fields?: readonly string[];
  isWatched?: boolean;
}

/** Adds a command that is one call of the API. */
export function callCommand<const Id extends OperationId>(
  cli: Cli,
  parent: Command,
  spec: CallSpec<Id>,
): void {
  command(cli, parent, {
    name: spec.name,
    about: spec.about,
    uses: [spec.operation],
    options: spec.options ?? [],
    examples: spec.examples,
    isWatched: spec.isWatched,
    run: async ({ args, options, client, out }) => {
      const request = {
        ...spec.request?.(args, options),
        ...(spec.isRepeatable ? { idempotencyKey: newId() } : {}),
      };
      const answer = (await (client as unknown as LooseClient).call(spec.operation, request)) as AnswerOf<Id>;
      const result = (answer ?? { id: args[0] }) as object;
      if (spec.done) out.done(spec.done(args, answer), result);
      else out.record(result, spec.fields);
    },
  });
}
