import { t } from '../text/text';
import styles from './json-view.module.css';
import { shortJson } from './short-json';

const MOST_ENTRIES = 200;
/** A text of more lines is folded. */
const MOST_LINES = 8;

/** Shows a JSON value: short ones as text, nested ones expandable. Long lists show only their beginning. */
export function JsonView({ value, isOpen = false }: { value: unknown; isOpen?: boolean }) {
  if (typeof value === 'string') return <Text of={value} isOpen={isOpen} />;
  if (value === null || typeof value !== 'object') return <code>{JSON.stringify(value) ?? t.none}</code>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <code>{Array.isArray(value) ? '[]' : '{}'}</code>;
  const short = isOpen ? null : shortJson(value);
  if (short !== null) return <code className={styles.short}>{short}</code>;
  const shown = entries.slice(0, MOST_ENTRIES);
  return (
    <details open={isOpen} className={styles.details}>
      <summary>{Array.isArray(value) ? t.json.items(entries.length) : t.json.keys(entries.length)}</summary>
      <dl className={Array.isArray(value) ? `${styles.entries} ${styles.list}` : styles.entries}>
        {shown.map(([key, inner]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <JsonView value={inner} />
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > shown.length && <p className={styles.rest}>{t.of(shown.length, entries.length)}</p>}
    </details>
  );
}

/** A text of several lines, such as a plan or what a program said, keeps its columns. */
function Text({ of, isOpen }: { of: string; isOpen: boolean }) {
  const lines = of.trimEnd().split('\n').length;
  if (lines === 1) return <span className={styles.text}>{of === '' ? '""' : of}</span>;
  const text = <pre className={styles.lines}>{of}</pre>;
  return lines <= MOST_LINES ? (
    text
  ) : (
    <details open={isOpen} className={styles.details}>
      <summary>{t.json.lines(lines)}</summary>
      {text}
    </details>
  );
}

/** Names and values of an object, as a definition list. */
export function Properties({ of, empty }: { of: Record<string, unknown>; empty: string }) {
  const entries = Object.entries(of);
  if (entries.length === 0) return <p className={styles.rest}>{empty}</p>;
  return (
    <dl className={styles.entries}>
      {entries.slice(0, MOST_ENTRIES).map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>
            <JsonView value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
