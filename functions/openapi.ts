import { openApiDocuments } from '../lib/server/documents.ts'
import { serve } from '../lib/server/serve.ts'

export const handler = serve(openApiDocuments, { verb: 'get', resource: 'openapi', streams: true })
