import type { ReactNode } from 'react';
import { t } from '../text/text';
import styles from './card-page.module.css';
import { Logo } from './logo';

interface CardPageProps {
  title: string;
  /** Most px that the card is wide. */
  widthPx: number;
  children: ReactNode;
}

/** A page with one card below the name of the product, outside of the frame. */
export function CardPage({ title, widthPx, children }: CardPageProps) {
  return (
    <main className={styles.page}>
      <title>{`${title} · ${t.product}`}</title>
      <div className={styles.card} style={{ width: `min(${widthPx}px, 100%)` }}>
        <div className={styles.brand}>
          <Logo />
          <span>{t.product}</span>
        </div>
        {children}
      </div>
    </main>
  );
}
