import type { ReactNode } from 'react';
import styles from './notice.module.css';

/** Something that people must know before they read the rest of a screen. */
export const Notice = ({ children }: { children: ReactNode }) => (
  <div className={styles.warn}>{children}</div>
);
