import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleSlash,
  Clock,
  LoaderCircle,
  type LucideIcon,
} from 'lucide-react';
import { statusText } from '../text/text';
import styles from './badge.module.css';
import { type Tone, toneOf } from './tone';

const ICONS: Record<Tone, LucideIcon> = {
  good: CircleCheck,
  bad: CircleAlert,
  busy: LoaderCircle,
  warn: CircleSlash,
  wait: Clock,
  idle: CircleDashed,
  other: CircleDot,
};

/** Shows a status by colour, icon and word, so that it does not depend on colour alone. */
export const Badge = ({ status, isBare }: { status: string | null | undefined; isBare?: boolean }) => (
  <ToneBadge tone={toneOf(status)} text={statusText(status)} isBare={isBare} />
);

/** The same for a state with words of its own. */
export function ToneBadge({ tone, text, isBare = false }: { tone: Tone; text: string; isBare?: boolean }) {
  const Icon = ICONS[tone];
  return (
    <span className={`${styles.badge} ${styles[tone]} ${isBare ? styles.bare : ''}`}>
      <Icon size={14} aria-hidden="true" />
      {text}
    </span>
  );
}
