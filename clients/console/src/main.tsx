import { render } from 'preact'
import { App } from './shell/app.tsx'

const place = document.getElementById('console')
if (place) render(<App />, place)
