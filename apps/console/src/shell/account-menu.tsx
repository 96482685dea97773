import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CircleUserRound } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import type { Session } from '../api/answers';
import { useApi } from '../api/api-context';
import { SESSION_KEY, signOut } from '../api/session';
import { useChoose } from '../settings/preferences';
import { type Theme, useSettings } from '../settings/settings';
import type { Zone } from '../text/format';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { controlClass, Field } from '../ui/field';
import { InlineProblem } from '../ui/states';
import { useCloseOutside } from '../ui/use-close-outside';
import styles from './account-menu.module.css';

const DIALOGS = [
  ['palette', t.nav.commands, 'Ctrl K'],
  ['help', t.nav.shortcuts, '?'],
] as const;

/** The signed-in user and the user's settings. */
export function AccountMenu({
  session,
  onOpen,
}: {
  session: Session | null;
  onOpen: (dialog: 'help' | 'palette') => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const close = useCallback(() => setOpen(false), []);
  useCloseOutside(box, isOpen, close);
  return (
    <div className={styles.box} ref={box}>
      <Button
        look="quiet"
        aria-label={[t.nav.account, session?.username].filter(Boolean).join(' ')}
        aria-expanded={isOpen}
        aria-controls="account"
        onClick={() => setOpen(!isOpen)}
      >
        <CircleUserRound size={18} aria-hidden="true" />
        <span className={styles.name}>{session?.username ?? t.nav.account}</span>
      </Button>
      {isOpen && (
        <div id="account" className={styles.panel}>
          <Choices />
          {DIALOGS.map(([dialog, text, key]) => (
            <Button
              key={dialog}
              look="quiet"
              className={styles.row}
              onClick={() => {
                setOpen(false);
                onOpen(dialog);
              }}
            >
              {text} <kbd>{key}</kbd>
            </Button>
          ))}
          <a className={styles.link} href="/api/docs">
            {t.nav.docs}
          </a>
          <SignOut />
        </div>
      )}
    </div>
  );
}

function Choices() {
  const { theme, zone } = useSettings();
  const { choose, error } = useChoose();
  return (
    <>
      <Field label={t.nav.theme}>
        {(ids) => (
          <select
            {...ids}
            className={controlClass}
            value={theme}
            onChange={(event) => choose({ theme: event.currentTarget.value as Theme })}
          >
            {Object.entries(t.nav.themes).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t.nav.zone}>
        {(ids) => (
          <select
            {...ids}
            className={controlClass}
            value={zone}
            onChange={(event) => choose({ zone: event.currentTarget.value as Zone })}
          >
            {Object.entries(t.nav.zones).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      <InlineProblem error={error} />
    </>
  );
}

function SignOut() {
  const { client } = useApi();
  const cache = useQueryClient();
  const leave = useMutation({
    mutationFn: () => signOut(client),
    onSuccess: () => {
      // The session is removed first, which closes all screens: otherwise they would reload their data.
      cache.setQueryData(SESSION_KEY, null);
      cache.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
    },
  });
  return (
    <>
      <InlineProblem error={leave.error} />
      <Button onClick={() => leave.mutate()} disabled={leave.isPending}>
        {t.nav.signOut}
      </Button>
    </>
  );
}
