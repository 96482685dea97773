import type { ButtonHTMLAttributes } from 'react';
import styles from './button.module.css';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: 'plain' | 'main' | 'danger' | 'quiet' | 'icon';
}

/** CSS classes for a link that looks like a button: navigation must be a link. */
export const buttonClass = (look: NonNullable<ButtonProps['look']> = 'plain'): string =>
  `${styles.button} ${styles[look]}`;

export function Button({ look = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`${styles.button} ${styles[look]} ${className}`} {...rest} />;
}
