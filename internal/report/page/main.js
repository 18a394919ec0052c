// Everything is drawn once the page has its data.

const openInExplorer = explorer();
forestPlot();
cutoffPlot();
differencePlot(openInExplorer);
learningCurves();
featurePlot();
treePlots();
samplerPlot();
for (const item of document.querySelectorAll('[data-needs]')) item.hidden = document.getElementById(item.dataset.needs).hidden;
