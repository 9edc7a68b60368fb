import { boundSecretsHandler } from '../lib/server/boundsecrets.ts'

export const handler = boundSecretsHandler()
