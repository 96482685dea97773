import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useRef } from 'react';
import { ApiContext, useApi } from './api/api-context';
import { sessionQuery } from './api/session';
import { router } from './router';
import { SignIn } from './shell/sign-in';
import { t } from './text/text';
import { Loading, ProblemView } from './ui/states';
import type { Wiring } from './wiring';

interface GateProps {
  notice: string | null;
  /** The tenant that the page was opened for. */
  tenant: string;
}

export function App({ cache, client, live, ...gate }: Wiring & GateProps) {
  return (
    <QueryClientProvider client={cache}>
      <ApiContext value={{ client, live }}>
        <Gate {...gate} />
      </ApiContext>
    </QueryClientProvider>
  );
}

/** Shows the screens with a session, else the sign-in. */
function Gate({ notice, tenant }: GateProps) {
  const { client } = useApi();
  const session = useQuery(sessionQuery(client, tenant));
  const hadSession = useRef(false);
  if (session.data) hadSession.current = true;
  if (session.data === undefined)
    return session.error ? (
      <ProblemView error={session.error} onRetry={() => void session.refetch()} />
    ) : (
      <Loading />
    );
  if (session.data === null) return <SignIn notice={hadSession.current ? t.signIn.ended : notice} />;
  return <RouterProvider router={router} />;
}
