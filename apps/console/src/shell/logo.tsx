/** The logo: a baton. Hidden from screen readers, because the product name stands beside it. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#2a5bd7" />
      <path d="M9 23 22 8" stroke="#fff" strokeWidth="4" strokeLinecap="round" />
      <circle cx="22.5" cy="22.5" r="2.5" fill="#9fc0ff" />
    </svg>
  );
}
