import { ClassName, type Node, PyBytes, PyDate, PyDict, PyList } from './nodes';
import { PickleFault } from './pickle-fault';

/**
 * The only classes that a pickle may name. Those of dsl_parser, manager_rest and cloudify are dicts and lists with methods; what is
 * read of them is what they hold.
 */
const DICTS = new Set([
  'builtins.dict',
  'collections.OrderedDict',
  'dsl_parser.models.Plan',
  'dsl_parser.models.Version',
  'manager_rest.deployment_update.step_extractor.DeploymentPlan',
  'manager_rest.rest.filters_utils.FilterRule',
  'cloudify.context.ImmutableProperties',
  'cloudify.manager.DirtyTrackingDict',
]);
const LISTS = new Set(['builtins.list', 'manager_rest.deployment_update.step_extractor.EntityIdBuilder']);
const SETS = new Set(['builtins.set', 'builtins.frozenset']);
const FUNCTIONS = new Set([
  'builtins.tuple',
  'builtins.bytes',
  'builtins.bytearray',
  'builtins.int',
  'builtins.str',
  'builtins.object',
  'collections.defaultdict',
  'copyreg._reconstructor',
  '_codecs.encode',
  'datetime.datetime',
  'datetime.date',
]);
/** Modules of Python 2 that have another name in Python 3. */
const RENAMED: Readonly<Record<string, string>> = { __builtin__: 'builtins', copy_reg: 'copyreg' };
const SAFE_NAME = /^[A-Za-z0-9_.]{1,200}$/;

/** @throws PickleFault for a class that is not on the list; the message names it */
export function namedClass(module: string, name: string): ClassName {
  const full = `${RENAMED[module] ?? module}.${name === 'unicode' ? 'str' : name === 'long' ? 'int' : name}`;
  if (!SAFE_NAME.test(full)) throw new PickleFault('it names a class whose name is no name');
  if (![DICTS, LISTS, SETS, FUNCTIONS].some((known) => known.has(full)))
    throw new PickleFault(`the class ${full} is not allowed in a pickle`);
  return new ClassName(full);
}

const refuseCall = (name: string): never => {
  throw new PickleFault(`a call of ${name} with these arguments is not allowed in a pickle`);
};

/** Bounds the work of calls: a pickle may call for one long list again and again. */
export class Budget {
  constructor(private left: number) {}

  /** @throws PickleFault */
  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new PickleFault('its calls take too much work');
  }
}

/** Makes an empty instance, as __newobj__ does. @throws PickleFault */
export function newInstance(cls: Node, args: readonly Node[], budget: Budget): Node {
  if (!(cls instanceof ClassName)) throw new PickleFault('an instance of what is no class');
  if (DICTS.has(cls.name) && args.length === 0) return new PyDict();
  if (LISTS.has(cls.name) && args.length === 0) return new PyList('list');
  return call(cls, args, budget);
}

/** What a call of one of the allowed functions returns; nothing is run. @throws PickleFault */
export function call(callee: Node, args: readonly Node[], budget: Budget): Node {
  if (!(callee instanceof ClassName)) throw new PickleFault('a call of what is no function');
  const { name } = callee;
  const [first, second] = args;
  for (const arg of args) budget.spend(sizeOf(arg));
  if (DICTS.has(name)) return dictOf(first, args.length) ?? refuseCall(name);
  if (LISTS.has(name) || SETS.has(name) || name === 'builtins.tuple')
    return listOf(name, args) ?? refuseCall(name);
  switch (name) {
    case 'collections.defaultdict':
      return args.length <= 1 ? new PyDict() : refuseCall(name);
    case 'copyreg._reconstructor':
      return reconstructed(args) ?? refuseCall(name);
    case '_codecs.encode':
      return typeof first === 'string' && second === 'latin1' && isLatin1(first)
        ? new PyBytes(Buffer.from(first, 'latin1'))
        : refuseCall(name);
    case 'builtins.bytes':
      return args.length === 0 ? new PyBytes(Buffer.alloc(0)) : refuseCall(name);
    case 'datetime.datetime':
    case 'datetime.date':
      return dateOf(args) ?? refuseCall(name);
    default:
      return refuseCall(name);
  }
}

const LATIN1 = /^[\u0000-\u00ff]*$/;
const isLatin1 = (text: string): boolean => LATIN1.test(text);

/** Items that a call may copy, or pieces of 64 characters that it may look at. */
function sizeOf(arg: Node): number {
  if (arg instanceof PyDict) return arg.pairs.length;
  if (arg instanceof PyList) return arg.items.length;
  return typeof arg === 'string' ? arg.length >> 6 : 0;
}

function dictOf(pairs: Node | undefined, count: number): PyDict | null {
  const dict = new PyDict();
  if (count === 0) return dict;
  if (count !== 1) return null;
  if (pairs instanceof PyDict) {
    for (const pair of pairs.pairs) dict.pairs.push(pair);
    return dict;
  }
  if (!(pairs instanceof PyList)) return null;
  for (const pair of pairs.items) {
    if (!(pair instanceof PyList) || pair.items.length !== 2) return null;
    dict.pairs.push([pair.items[0]!, pair.items[1]!]);
  }
  return dict;
}

function listOf(name: string, args: readonly Node[]): PyList | null {
  const kind = SETS.has(name) ? 'set' : name === 'builtins.tuple' ? 'tuple' : 'list';
  if (args.length === 0) return new PyList(kind);
  return args.length === 1 && args[0] instanceof PyList ? new PyList(kind, [...args[0].items]) : null;
}

/** copy_reg._reconstructor(class, base, state): how protocols 0 and 1 write a subclass of dict or list. */
function reconstructed([cls, base, state]: readonly Node[]): Node | null {
  if (!(cls instanceof ClassName) || !(base instanceof ClassName)) return null;
  if (DICTS.has(cls.name) && base.name === 'builtins.dict') return dictOf(state, 1);
  if (LISTS.has(cls.name) && base.name === 'builtins.list') return listOf(cls.name, [state ?? null]);
  return null;
}

/** Year (two bytes), month, day, and for a time also hour, minute, second and microseconds (three bytes). */
function dateOf([state, zone]: readonly Node[]): PyDate | null {
  const bytes =
    state instanceof PyBytes
      ? state.bytes
      : typeof state === 'string' && isLatin1(state)
        ? Buffer.from(state, 'latin1')
        : null;
  if (!bytes || (bytes.length !== 4 && bytes.length !== 10) || zone !== undefined) return null;
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${String(bytes.readUInt16BE(0)).padStart(4, '0')}-${two(bytes[2]! & 0x7f)}-${two(bytes[3]!)}`;
  if (bytes.length === 4) return new PyDate(day);
  const micros = String(bytes.readUIntBE(7, 3)).padStart(6, '0');
  return new PyDate(`${day}T${two(bytes[4]!)}:${two(bytes[5]!)}:${two(bytes[6]!)}.${micros}`);
}
