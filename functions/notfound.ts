import { notFound } from '../lib/server/notfound.ts'
import { serve } from '../lib/server/serve.ts'

export const handler = serve(notFound, { verb: 'any', resource: 'none', streams: false })
