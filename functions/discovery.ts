import { discovery } from '../lib/server/documents.ts'
import { serve } from '../lib/server/serve.ts'

export const handler = serve(discovery, { verb: 'get', resource: 'discovery', streams: false })
