import { authorizerHandler } from '../lib/server/authorizer.ts'

export const handler = await authorizerHandler()
