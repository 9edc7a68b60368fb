import { notFound } from '../lib/server/documents/notfound.ts'
import { serve } from '../lib/server/lambda/serve.ts'

export const handler = serve(notFound, { verb: 'any', resource: 'none', streams: false })
