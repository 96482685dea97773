import type { ReactNode } from 'react';
import styles from './panel.module.css';

export function Panel({
  title,
  side,
  children,
}: {
  title?: ReactNode;
  side?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={styles.panel}>
      {(title || side) && (
        <header className={styles.head}>
          {title && <h2>{title}</h2>}
          {side}
        </header>
      )}
      <div className={styles.body}>{children}</div>
    </section>
  );
}
