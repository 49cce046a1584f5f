/** The half of the chart library that needs WebGL. */
import { use } from 'echarts/core'
import { SurfaceChart } from 'echarts-gl/charts'
import { Grid3DComponent } from 'echarts-gl/components'

use([Grid3DComponent, SurfaceChart])
