import { notFound } from '../lib/server/notfound.ts'
import { serve } from '../lib/server/serve.ts'

export const handler = serve(notFound, { verb: 'get', resource: 'issuer', streams: false })
