import type { ReactNode } from 'react';
import { t } from '../text/text';
import styles from './admin.module.css';

/** Warning shown when a user is about to become an administrator of the manager. */
export const adminWarning = (role: string): ReactNode =>
  role === 'sys_admin' && <p className={styles.warning}>{t.users.adminRole}</p>;
