// Everything in its place.
startTheme();
startLevelControl();
startLevelChart();
startCoverageChart();
startAngleChart();
startPicker(at("single"));
if (report.network === null) startComparison(at("single"));
else startMap(at("single"));
