import { answerNotFound } from '../lib/server/documents/notfound.ts'
import { serve } from '../lib/server/lambda/serve.ts'

export const handler = serve(answerNotFound, { streams: false })
