import { documents, index, v2 } from 'keyplane:openapi'
import { openApiEndpoint } from '../lib/server/documents/openapi.ts'
import { serve } from '../lib/server/lambda/serve.ts'

const endpoint = openApiEndpoint({ documents, index, v2 })
export const handler = serve(endpoint, { streams: true })
