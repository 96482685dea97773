import { useEffect, useRef } from 'react';
import styles from './code-lines.module.css';

/** Text with line numbers. Scrolls to the marked line, counted from 1. */
export function CodeLines({ lines, label, marked }: { lines: string[]; label: string; marked?: number }) {
  const line = useRef<HTMLLIElement>(null);
  // Runs again for another text.
  useEffect(() => {
    // In newer browsers scrollIntoView returns a promise, which must not become the effect's cleanup.
    void line.current?.scrollIntoView({ block: 'center' });
  }, [marked, lines]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className={styles.box} aria-label={label} tabIndex={0}>
      <ol className={styles.lines}>
        {lines.map((text, i) => (
          <li
            // Lines have no key other than their number.
            key={i}
            ref={i + 1 === marked ? line : undefined}
            className={i + 1 === marked ? styles.marked : undefined}
            aria-current={i + 1 === marked || undefined}
          >
            {text}
          </li>
        ))}
      </ol>
    </section>
  );
}
