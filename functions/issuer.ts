import { serve } from '../lib/server/handler.ts'
import { notFound } from '../lib/server/notfound.ts'

export const handler = serve(notFound, { verb: 'get', resource: 'issuer', streams: false })
