import { z } from 'zod';
import { defineRoutes } from '../route';

const text = z.string().min(1).max(256);

export const contactRoutes = defineRoutes([
  {
    id: 'createContact',
    method: 'POST',
    path: '/contacts',
    owner: 'cluster-status',
    tenant: 'none',
    permission: 'community_contact_create',
    versions: ['v3.1'],
    summary: 'Register who uses a community edition; nothing leaves the manager',
    spec: 'reference 5.12',
    body: z.object({
      first_name: text,
      last_name: text,
      email: z
        .string()
        .max(320)
        .regex(/^[^@\s]+@[^@\s]+$/, 'must be an e-mail address'),
      is_eula: z.boolean(),
      phone: z.string().max(64).nullish(),
    }),
    status: 200,
    response: z.object({ customer_id: z.string() }),
  },
]);
