import styles from './plain-text.module.css';

/** A text of several lines as it is; JSON with one member a line. `name`: of the text, for screen readers. */
export function PlainText({ text, name }: { text: string; name: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className={styles.box} aria-label={name} tabIndex={0}>
      <pre className={styles.text}>{indented(text)}</pre>
    </section>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
