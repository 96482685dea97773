import { z } from 'zod';
import { defineRoutes } from '../route';
import { jsonObject } from './deployments-shapes';

/** POST /evaluate/functions (reference/rest-api.md 5.22). */
export const evaluateFunctionsRoutes = defineRoutes([
  {
    id: 'evaluateFunctions',
    method: 'POST',
    path: '/evaluate/functions',
    owner: 'deployments',
    permission: 'functions_evaluate',
    tenant: 'required',
    versions: ['v2.1', 'v3.1'],
    summary: 'Evaluates intrinsic functions in a deployment',
    spec: 'reference 5.22',
    body: z.object({ deployment_id: z.string(), context: jsonObject.nullish(), payload: jsonObject }),
    status: 200,
    // A payload that is itself a function becomes the result of the function.
    response: z.object({ deployment_id: z.string(), payload: z.unknown() }),
    isAllowedToExecution: true,
  },
]);
