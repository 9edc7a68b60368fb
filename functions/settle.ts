import { settle } from '../lib/server/settle.ts'

export const handler = settle()
