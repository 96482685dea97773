import type { Diagnostic } from '@baton/dsl';
import { visible } from '../source/text-lines';
import { t } from '../text/text';
import { Button } from '../ui/button';
import styles from './problem-list.module.css';
import type { Project } from './project';
import type { Parsed } from './use-parser';

const MOST_SHOWN = 100;

interface ProblemListProps {
  parsed: Parsed;
  files: Project['files'];
  onOpen: (file: string | null, line: number | null, column: number | null) => void;
}

/** Problems in all files, with the manager's messages. A place links to its file. */
export function ProblemList({ parsed, files, onOpen }: ProblemListProps) {
  const { result, isBusy, fault, again } = parsed;
  const diagnostics = result?.diagnostics ?? [];
  return (
    <section className={styles.box} aria-label={t.editor.problemsLabel}>
      <div className={styles.head}>
        <Summary parsed={parsed} />
        {!isBusy && (fault !== null || diagnostics.length > 0) && (
          <Button onClick={again}>{t.editor.again}</Button>
        )}
      </div>
      {diagnostics.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <ol className={styles.list} tabIndex={0}>
          {diagnostics.slice(0, MOST_SHOWN).map((one) => (
            <li key={`${one.file} ${one.line} ${one.column} ${one.path} ${one.message}`}>
              <Problem problem={one} isKnown={one.file !== null && files.has(one.file)} onOpen={onOpen} />
            </li>
          ))}
          {diagnostics.length > MOST_SHOWN && <li>{t.editor.more(diagnostics.length - MOST_SHOWN)}</li>}
        </ol>
      )}
    </section>
  );
}

function Summary({ parsed: { result, isBusy, fault } }: { parsed: Parsed }) {
  const errors = result?.diagnostics.filter(({ severity }) => severity === 'error').length ?? 0;
  const warnings = (result?.diagnostics.length ?? 0) - errors;
  const text = (): string => {
    if (fault !== null) return t.editor.fault(fault);
    if (isBusy || result === null) return t.editor.busy;
    return errors + warnings > 0 ? t.editor.problems(errors, warnings) : t.editor.valid;
  };
  const isBad = fault !== null || errors > 0;
  const look = isBusy && fault === null ? '' : isBad ? styles.bad : styles.good;
  return (
    <p role="status" className={look}>
      {text()}
    </p>
  );
}

interface ProblemProps {
  problem: Diagnostic;
  isKnown: boolean;
  onOpen: ProblemListProps['onOpen'];
}

function Problem({ problem, isKnown, onOpen }: ProblemProps) {
  const { file, line, column, message, severity, nearest, expected } = problem;
  const place =
    file === null ? null : line === null ? visible(file) : t.editor.place(visible(file), line, column ?? 1);
  return (
    <>
      {place !== null &&
        (isKnown ? (
          <button type="button" className={styles.place} onClick={() => onOpen(file, line, column)}>
            {place}
          </button>
        ) : (
          <code>{place}</code>
        ))}{' '}
      {severity === 'warning' && <span className={styles.warning}>{t.editor.warning} </span>}
      {visible(message)}
      <Hint
        text={nearest !== undefined ? t.blueprint.nearest(nearest) : expected && t.editor.expected(expected)}
      />
    </>
  );
}

function Hint({ text }: { text: string | undefined }) {
  return text ? <span className={styles.hint}>{text}</span> : null;
}
