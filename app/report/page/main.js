// Everything is drawn once the page has its data.

for (const box of document.querySelectorAll('.scroll')) cue(box);
const [openInExplorer, followAddress] = explorer();
forestPlot();
cutoffPlot();
differencePlot(openInExplorer);
learningCurves();
featurePlot();
treePlots();
samplerPlot();
for (const item of document.querySelectorAll('[data-needs]')) item.hidden = document.getElementById(item.dataset.needs).hidden;
followAddress(); // when all above it has its height
