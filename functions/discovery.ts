import { aggregated, documents } from 'keyplane:discovery'
import { discoveryEndpoint } from '../lib/server/documents/discovery.ts'
import { serve } from '../lib/server/lambda/serve.ts'

const endpoint = discoveryEndpoint({ aggregated, documents })
export const handler = serve(endpoint, { streams: false })
