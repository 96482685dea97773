import styles from './labels.module.css';

/** Labels of a resource, each with its key. */
export function Labels({ labels }: { labels: readonly { key: string; value: string }[] }) {
  return (
    <ul className={styles.labels}>
      {labels.map(({ key, value }) => (
        <li key={`${key}=${value}`}>
          <span>{key}</span>
          {value}
        </li>
      ))}
    </ul>
  );
}
