import { answerDiscovery } from '../lib/server/documents/discovery.ts'
import { serve } from '../lib/server/lambda/serve.ts'

export const handler = serve(answerDiscovery, { verb: 'get', resource: 'discovery', streams: false })
