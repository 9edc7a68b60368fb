import { Self } from '../../lib/apis/management/v1/self.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(Self, 'create')
