import type { ReactNode } from 'react';
import { t } from '../text/text';
import styles from './screen.module.css';

/** A screen with its heading. `isFilling`: the content fills the remaining height and scrolls by itself. */
export function Screen({
  name,
  title,
  above,
  side,
  isFilling = false,
  children,
}: {
  /** The page title, shown in browser tabs and histories. */
  name: string;
  title?: ReactNode;
  above?: ReactNode;
  side?: ReactNode;
  isFilling?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={`${styles.screen} ${isFilling ? styles.filling : ''}`}>
      <title>{`${name} · ${t.product}`}</title>
      <header className={styles.head}>
        <div className={styles.titles}>
          {above && <div className={styles.above}>{above}</div>}
          <h1>{title ?? name}</h1>
        </div>
        {side && (
          // The command palette offers the buttons and links in this element.
          <div className={styles.side} data-actions="">
            {side}
          </div>
        )}
      </header>
      {children}
    </div>
  );
}
