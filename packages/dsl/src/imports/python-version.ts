/** Versions and specifiers in the order of PEP 440, as far as plugins use them. */
interface PythonVersion {
  epoch: number;
  release: number[];
  /** Sorts a development or pre-release before the release and a post-release after it. */
  suffix: [number, number, number, number];
  local: string;
}

const VERSION =
  /^\s*v?(?:(\d{1,9})!)?(\d{1,9}(?:\.\d{1,9}){0,20})(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?(\d{0,9}))?(?:(?:[-_.]?(?:post|rev|r)[-_.]?(\d{0,9}))|-(\d{1,9}))?(?:[-_.]?(dev)[-_.]?(\d{0,9}))?(?:\+([a-z0-9._-]{1,100}))?\s*$/i;
const PRE_RANK: Record<string, number> = { a: 1, alpha: 1, b: 2, beta: 2, c: 3, rc: 3, pre: 3, preview: 3 };
const FINAL = 9;

function parse(text: string): PythonVersion | null {
  const match = VERSION.exec(text);
  if (!match) return null;
  const [, epoch, release, pre, preNumber, post, post2, dev, devNumber, local] = match;
  const numbers = release!.split('.').map(Number);
  while (numbers.length > 1 && numbers[numbers.length - 1] === 0) numbers.pop();
  const isPost = post !== undefined || post2 !== undefined;
  const preRank = pre ? PRE_RANK[pre.toLowerCase()]! : dev && !isPost ? 0 : FINAL;
  return {
    epoch: Number(epoch ?? 0),
    release: numbers,
    suffix: [
      preRank,
      Number(preNumber || 0),
      isPost ? Number(post || post2 || 0) : -1,
      dev ? Number(devNumber || 0) : Number.POSITIVE_INFINITY,
    ],
    local: (local ?? '').toLowerCase(),
  };
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return 0;
}

function compareParsed(a: PythonVersion, b: PythonVersion): number {
  return (
    a.epoch - b.epoch ||
    compareLists(a.release, b.release) ||
    compareLists(a.suffix, b.suffix) ||
    (a.local < b.local ? -1 : a.local > b.local ? 1 : 0)
  );
}

/** Compares two versions; texts that are no versions come first, sorted by spelling. */
export function comparePythonVersions(a: string, b: string): number {
  const left = parse(a);
  const right = parse(b);
  if (left && right) return compareParsed(left, right);
  if (left) return 1;
  if (right) return -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether `version` matches all comma-separated specifiers. An item without operator means `===item`. */
export function matchesSpecifiers(version: string, specifiers: string): boolean {
  return specifiers.split(',').every((item) => matchesOne(version, item.trim()));
}

function matchesOne(version: string, specifier: string): boolean {
  const match = /^(===|==|!=|~=|<=|>=|<|>)?\s*(.+)$/.exec(specifier);
  if (!match) return false;
  const [, operator = '===', wanted = ''] = match;
  if (operator === '===') return version.trim().toLowerCase() === wanted.trim().toLowerCase();
  const isPrefix = wanted.endsWith('.*');
  const left = parse(version);
  const right = parse(isPrefix ? wanted.slice(0, -2) : wanted);
  if (!left || !right) return false;
  if (isPrefix || operator === '~=') return matchesPrefix(left, right, wanted, operator, isPrefix);
  const order = compareParsed({ ...left, local: right.local === '' ? '' : left.local }, right);
  switch (operator) {
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<=':
      return order <= 0;
    case '>=':
      return order >= 0;
    case '<':
      return (
        order < 0 &&
        !(
          compareLists(left.release, right.release) === 0 &&
          left.suffix[0] < FINAL &&
          right.suffix[0] === FINAL
        )
      );
    default:
      return (
        order > 0 &&
        !(compareLists(left.release, right.release) === 0 && left.suffix[2] >= 0 && right.suffix[2] < 0)
      );
  }
}

function matchesPrefix(
  left: PythonVersion,
  right: PythonVersion,
  wanted: string,
  operator: string,
  isPrefix: boolean,
): boolean {
  const written =
    (isPrefix ? wanted.slice(0, -2) : wanted)
      .replace(/^.*!/, '')
      .match(/^v?\d+(?:\.\d+)*/i)?.[0]
      .replace(/^v/i, '')
      .split('.').length ?? 1;
  const length = operator === '~=' ? written - 1 : written;
  const isSame =
    left.epoch === right.epoch &&
    Array.from({ length }, (_, i) => (left.release[i] ?? 0) === (right.release[i] ?? 0)).every(Boolean);
  if (operator === '==') return isSame;
  if (operator === '!=') return !isSame;
  return operator === '~=' && length > 0 && isSame && compareParsed(left, right) >= 0;
}
