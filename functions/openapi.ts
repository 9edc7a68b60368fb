import { documents, index, v2 } from 'keyplane:openapi'
import { answerOpenApi } from '../lib/engine/endpoints/discovery/openapi.ts'
import { serve } from '../lib/server/lambda/serve.ts'

export const handler = serve((request) => answerOpenApi({ documents, index, v2 }, request), { streams: true })
