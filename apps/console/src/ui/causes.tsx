import styles from './causes.module.css';

export interface Cause {
  type: string;
  message: string;
  traceback: string | null;
}

/** The causes of a failed event: type, message, and the traceback if present. */
export function Causes({ causes }: { causes: readonly Cause[] }) {
  return (
    <>
      {causes.map(({ type, message, traceback }) => (
        <pre key={`${type} ${message}`} className={styles.trace}>
          {`${type}: ${message}`}
          {traceback && `\n${traceback}`}
        </pre>
      ))}
    </>
  );
}
