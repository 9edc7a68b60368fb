import { authorizer } from '../lib/server/authorizer.ts'

export const handler = authorizer()
