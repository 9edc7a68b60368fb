import { openApiDocuments } from '../lib/server/documents/documents.ts'
import { serve } from '../lib/server/lambda/serve.ts'

export const handler = serve(openApiDocuments, { verb: 'get', resource: 'openapi', streams: true })
