import { answerOpenApi } from '../lib/server/documents/openapi.ts'
import { serve } from '../lib/server/lambda/serve.ts'

export const handler = serve(answerOpenApi, { verb: 'get', resource: 'openapi', streams: true })
