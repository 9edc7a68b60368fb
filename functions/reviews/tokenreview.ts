import { TokenReview } from '../../lib/apis/authentication/v1/tokenreview.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(TokenReview, 'create')
