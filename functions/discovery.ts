import { discovery } from '../lib/server/documents/documents.ts'
import { serve } from '../lib/server/lambda/serve.ts'

export const handler = serve(discovery, { verb: 'get', resource: 'discovery', streams: false })
