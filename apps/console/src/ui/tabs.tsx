import { Link } from '@tanstack/react-router';
import styles from './tabs.module.css';

/** Tabs of a screen as links: each has its own address. */
export function Tabs({
  label,
  tabs,
}: {
  label: string;
  tabs: { to: string; text: string; isCurrent: boolean }[];
}) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map(({ to, text, isCurrent }) => (
        <Link key={to} to={to} className={styles.tab} aria-current={isCurrent ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
