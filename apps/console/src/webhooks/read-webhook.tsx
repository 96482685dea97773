/** Reads the webhook that the address names, for those who may see webhooks. */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { Permitted } from '../ui/permitted';
import { Loaded } from '../ui/states';
import { MANAGES_WEBHOOKS, type WebhookDetail, webhookQuery } from './webhooks';

interface ReadProps {
  children: (webhook: WebhookDetail) => ReactNode;
}

export function ReadWebhook({ children }: ReadProps) {
  const { id } = useParams({ strict: false }) as { id: string };
  return (
    <Permitted permission={MANAGES_WEBHOOKS}>
      <Read key={id} id={id}>
        {children}
      </Read>
    </Permitted>
  );
}

function Read({ id, children }: ReadProps & { id: string }) {
  const { client } = useApi();
  const query = useQuery(webhookQuery(client, useTenant(), id));
  return <Loaded query={query}>{children}</Loaded>;
}
