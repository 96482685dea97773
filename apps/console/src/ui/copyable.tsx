import { CopyButton } from './copy-button';
import styles from './copyable.module.css';

/** A text that people take elsewhere: an address, a secret. `name`: of the text. */
export function Copyable({ text, name }: { text: string; name: string }) {
  return (
    <div className={styles.line}>
      <code className={styles.text}>{text}</code>
      <CopyButton text={text} name={name} />
    </div>
  );
}
